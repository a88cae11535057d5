"""Everything an attacker learns from rows: how few fit, and what these reveal."""
