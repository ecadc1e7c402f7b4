"""Ray: start or join a cluster, run a graph of stages, share out pieces of work over actors."""
