"""Rules as YAML files: reading with duplicate keys refused, writing beside and renaming."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from mt_env.rules_options import OPTIONS

if TYPE_CHECKING:
    from mt_env.rules import Rules


MAX_DEPTH: Final = 8
"""How deep values may lie in values: options are flat, and PyYAML takes the square of the depth in time."""


class _Loader(yaml.SafeLoader):
    """`yaml.SafeLoader`, but with errors of its own instead of silence, crashes or endless work.

    A key given twice is an error: silently the last one would win. So are deep nesting, and a value that does
    not fit the tag in front of it, as in ``!!bool maybe``.
    """

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.depth == MAX_DEPTH:
            raise ValueError(f"line {self.line + 1}: nested too deep; options are plain 'name: value' lines")
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            return super().construct_object(node, deep)
        except (KeyError, AttributeError, IndexError, TypeError, OverflowError):
            tag, line = node.tag.rpartition(":")[2], node.start_mark.line + 1
            raise ValueError(f"line {line}: {node.value!r} does not fit its tag !!{tag}") from None

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode):
                if key_node.value in seen:
                    line = key_node.start_mark.line + 1
                    raise ValueError(f"line {line}: {key_node.value} is given twice; give it once")
                seen.add(key_node.value)
        return super().construct_mapping(node, deep)


_CONTAINERS: Final = (list, tuple, set, dict)


def mapping_from_yaml(text: str | bytes) -> dict[str, object]:
    """The mapping in a YAML text.

    Raises:
        ValueError: not YAML, not a mapping, or a key twice.
    """
    try:
        # _Loader is a SafeLoader; yaml.safe_load takes no loader of one's own.
        data = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"not readable as YAML: {error}") from None
    if isinstance(data, dict):
        for name, value in data.items():
            # Aliases could make such a value so large that a message which shows it would not end.
            parts = value.values() if isinstance(value, dict) else value
            if isinstance(value, _CONTAINERS) and any(isinstance(part, _CONTAINERS) for part in parts):
                raise ValueError(f"{name}: must be a plain value, not a list of lists or the like")
        return data
    what = "empty" if data is None else f"a {type(data).__name__}"
    raise ValueError(f"must hold options as 'name: value' lines, such as 'preset: spruce', but is {what}")


def rules_to_yaml(rules: Rules) -> str:
    """Every field as a line ``name: value  # clause meaning``."""
    lines = [f"# {rules.to_text()}"]
    for name, value in rules.to_dict().items():
        # true/false/null and plain words read alike in YAML 1.1 and 1.2; yes/no would not.
        text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
        option = OPTIONS[name]
        lines.append(f"{f'{name}: {text}':<33} # {option.clause} {option.meaning}")
    return "\n".join(lines) + "\n"


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a file under a temporary name beside ``path`` and rename it."""
    target = Path(os.path.realpath(path))
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8", newline="\n")
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
