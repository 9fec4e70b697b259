"""The private Docker Engine, Redis, PostgreSQL and browser that the tests run against."""
