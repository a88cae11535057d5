"""From texts and names of files to guarantees, parameters and other inputs."""
