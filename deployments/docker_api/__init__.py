"""The only place that imports the Docker SDK: one host, one client, explicit time-outs."""
