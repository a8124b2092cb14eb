"""Networks of the learners: a policy that scores candidate rows, and a faster masked policy.

Both are stable-baselines3 policies for ``MaskablePPO``; the maths of the action distribution is that of
the library, computed once instead of three times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch as th
from gymnasium import spaces
from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableDictRolloutBufferSamples
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn
from torch.nn import functional

_NEVER = -1e8
"""Logit of what cannot be chosen, as in sb3-contrib."""


def mlp(sizes: list[int], out: int, gain: float) -> nn.Sequential:
    """Linear layers of ``sizes`` with ReLU between, then one to ``out``; orthogonal, the last by ``gain``."""
    layers: list[nn.Module] = []
    for a, b in zip(sizes, [*sizes[1:], out], strict=True):
        layer = nn.Linear(a, b)
        nn.init.orthogonal_(layer.weight, np.sqrt(2))
        nn.init.zeros_(layer.bias)
        layers += [layer, nn.ReLU()]
    layers.pop()
    nn.init.orthogonal_(layers[-1].weight, gain)  # type: ignore[arg-type]
    return nn.Sequential(*layers)


def gumbel_max(logp: th.Tensor) -> th.Tensor:
    """A sample of each row of log-probabilities ``[n, k]``."""
    # A draw of exactly 0 would lift even what is masked above the rest.
    noise = th.empty_like(logp).exponential_().clamp_(min=th.finfo(logp.dtype).tiny).log_()
    return (logp - noise).argmax(-1)


class FastMaskablePolicy(MaskableActorCriticPolicy):
    """The library's masked policy with one softmax for each step instead of three distributions."""

    def _log_probabilities(self, latent: th.Tensor, masks: Any) -> th.Tensor:
        logits = self.action_net(latent)
        if masks is not None:
            allowed = th.as_tensor(masks, device=logits.device).reshape(logits.shape)
            allowed = allowed if allowed.dtype == th.bool else allowed > 0.5
            logits = logits.masked_fill(~allowed, _NEVER)
        return functional.log_softmax(logits, -1)

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Actions ``[n]``, values ``[n, 1]`` and log-probabilities ``[n]``."""
        latent_pi, latent_vf = self.mlp_extractor(self.extract_features(obs))
        logp = self._log_probabilities(latent_pi, action_masks)
        actions = logp.argmax(-1) if deterministic else gumbel_max(logp)
        return actions, self.value_net(latent_vf), logp.gather(-1, actions[:, None])[:, 0]

    def evaluate_actions(
        self, obs: Any, actions: th.Tensor, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Values ``[n, 1]``, log-probabilities ``[n]`` and entropies ``[n]`` of given actions."""
        latent_pi, latent_vf = self.mlp_extractor(self.extract_features(obs))
        logp = self._log_probabilities(latent_pi, action_masks)
        entropy = -(logp.exp() * logp.clamp(min=_NEVER / 10)).sum(-1)
        return self.value_net(latent_vf), logp.gather(-1, actions.long().view(-1, 1))[:, 0], entropy


class CandidatePolicy(MaskableActorCriticPolicy):
    """One small network scores each candidate row; the softmax is over the rows that are there.

    The critic sees the flat observation, the features that all rows share and the mean of the rows. Needs
    observations of the environments with ``obs_mode="dict", candidates=True``; action masks are not read,
    since the rows are the legal actions.
    """

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        row_layers: tuple[int, ...] = (64, 64),
        value_layers: tuple[int, ...] = (128, 64),
        **kwargs: Any,
    ) -> None:
        self.row_layers = list(row_layers)
        self.value_layers = list(value_layers)
        super().__init__(observation_space, action_space, lr_schedule, **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        space = self.observation_space
        features = space["candidates"].shape[1]  # type: ignore[index]
        flat = space["observation"].shape[0]  # type: ignore[index]
        self.row_net = mlp([features, *self.row_layers], 1, 0.01)
        self.critic = mlp([flat + features, *self.value_layers], 1, 1.0)
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        return data | {"row_layers": self.row_layers, "value_layers": self.value_layers}

    def _rows(self, obs: Any) -> tuple[th.Tensor, th.Tensor]:
        """Rows ``[n, k, features]`` without columns that are all padding, and which are there ``[n, k]``."""
        count = obs["candidate_count"].long()
        rows = obs["candidates"][:, : max(1, int(count.max()))]
        return rows, th.arange(rows.shape[1], device=rows.device)[None, :] < count

    def _log_probabilities(self, rows: th.Tensor, present: th.Tensor) -> th.Tensor:
        at = present.flatten().nonzero()[:, 0]
        scores = self.row_net(rows.flatten(0, 1).index_select(0, at))[:, 0]
        logits = th.full((present.numel(),), _NEVER, device=rows.device).index_copy(0, at, scores)
        return functional.log_softmax(logits.view(present.shape), -1)

    def _values(self, obs: Any, rows: th.Tensor) -> th.Tensor:
        count = obs["candidate_count"].clamp(min=1).to(rows.dtype)
        return self.critic(th.cat([obs["observation"], rows.sum(1) / count], 1))

    def predict_values(self, obs: Any) -> th.Tensor:
        """Values ``[n, 1]``."""
        return self._values(obs, self._rows(obs)[0])

    def forward(
        self, obs: Any, deterministic: bool = False, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Actions ``[n]``, values ``[n, 1]`` and log-probabilities ``[n]``."""
        rows, present = self._rows(obs)
        logp = self._log_probabilities(rows, present)
        chosen = logp.argmax(-1, keepdim=True) if deterministic else gumbel_max(logp)[:, None]
        actions = obs["candidate_actions"].long().gather(1, chosen)[:, 0]
        return actions, self._values(obs, rows), logp.gather(1, chosen)[:, 0]

    def evaluate_actions(
        self, obs: Any, actions: th.Tensor, action_masks: Any = None
    ) -> tuple[th.Tensor, th.Tensor, th.Tensor]:
        """Values ``[n, 1]``, log-probabilities ``[n]`` and entropies ``[n]`` of given actions."""
        rows, present = self._rows(obs)
        logp = self._log_probabilities(rows, present)
        same = obs["candidate_actions"][:, : logp.shape[1]].long() == actions.long().view(-1, 1)
        chosen = same.int().argmax(1, keepdim=True)
        entropy = -(logp.exp() * logp.clamp(min=_NEVER / 10)).sum(-1)
        return self._values(obs, rows), logp.gather(1, chosen)[:, 0], entropy

    def get_distribution(self, obs: Any, action_masks: Any = None) -> MaskableDistribution:
        """The distribution over all action ids, as the library's tools want it."""
        rows, present = self._rows(obs)
        logp = self._log_probabilities(rows, present)
        ids = obs["candidate_actions"][:, : logp.shape[1]].long()
        logits = th.full((len(logp), self.action_space.n), _NEVER, device=logp.device)  # type: ignore[attr-defined]
        row, column = present.nonzero(as_tuple=True)
        logits[row, ids[row, column]] = logp[row, column]
        return self.action_dist.proba_distribution(action_logits=logits)

    def _predict(self, observation: Any, deterministic: bool = False, action_masks: Any = None) -> th.Tensor:
        return self.forward(observation, deterministic)[0]


class CandidateBuffer(MaskableDictRolloutBuffer):
    """The library's buffer without what `CandidatePolicy` never reads: masks, and columns of padding."""

    def reset(self) -> None:
        """Empty the buffer."""
        super().reset()
        del self.observations["action_mask"]
        self.mask_dims = 1  # a mask of one entry, for the library to pass around
        self.action_masks = np.ones((self.buffer_size, self.n_envs, 1), np.float32)

    def get(self, batch_size: int | None = None) -> Iterator[MaskableDictRolloutBufferSamples]:  # type: ignore[override]
        """Minibatches in random order; call it when the buffer is full."""
        if not self.generator_ready:
            most = max(1, int(self.observations["candidate_count"].max()))
            for name in ("candidates", "candidate_actions"):
                self.observations[name] = self.observations[name][:, :, :most]
        yield from super().get(batch_size)


def layers_of(policy: MaskableActorCriticPolicy) -> tuple[str, str, list[tuple[np.ndarray, np.ndarray]]]:
    """What `mt_env.bots.policy.save_model` needs of a policy: kind, activation, and the layers of the actor.

    Raises:
        ValueError: the actor is not a chain of linear layers with one known activation between them.
    """
    if isinstance(policy, CandidatePolicy):
        kind, chain = "candidates", list(policy.row_net)
    else:
        kind, chain = "flat", [*policy.mlp_extractor.policy_net, policy.action_net]
    linear, between = chain[::2], {type(module) for module in chain[1::2]} or {nn.ReLU}
    names = {nn.ReLU: "relu", nn.Tanh: "tanh"}
    if len(between) != 1 or not between <= names.keys() or any(type(one) is not nn.Linear for one in linear):
        raise ValueError(f"cannot export {chain}: wanted linear layers with ReLU or Tanh between them")
    layers = [
        (one.weight.detach().cpu().numpy().copy(), one.bias.detach().cpu().numpy().copy()) for one in linear
    ]
    return kind, names[between.pop()], layers
