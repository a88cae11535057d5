"""HgHs and mHgHs: cuts with suppressed nodes."""
