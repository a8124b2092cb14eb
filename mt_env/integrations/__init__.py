"""One thin file for each library that wants more than the standard interfaces. None is imported by itself."""
