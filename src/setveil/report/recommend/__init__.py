"""The release that loses least, as `setveil recommend` reports it."""
