"""Property tests here have no time limits: how fast the machine is says nothing of the schema."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "untimed", deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("untimed")
