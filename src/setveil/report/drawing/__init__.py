"""What pages are drawn of: blocks of HTML, axes, small plots, matrices; nothing here knows what they show."""
