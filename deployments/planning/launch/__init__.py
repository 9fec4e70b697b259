"""One ContainerSpec, three renderings: a compose service, a launch script, Engine API arguments."""
