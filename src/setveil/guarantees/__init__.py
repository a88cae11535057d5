"""Privacy models: what a release promises. `verify` checks the promise from published rows alone."""
