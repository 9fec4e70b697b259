"""Every setting of the panel; what differs between places comes from the environment."""

from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from panel import env
from panel.logging import logging_settings

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = env.boolean("DEBUG", default=False)
LAB_MODE = env.boolean("LAB_MODE", default=False)
SERVED_OVER_HTTPS = env.boolean("SERVED_OVER_HTTPS", default=False)

SECRET_KEY = env.secret(
    "SECRET_KEY",
    default="for development only, " + "never for a panel that others use" * 2
    if DEBUG
    else None,
)
SECRET_KEY_FALLBACKS = env.items("SECRET_KEY_FALLBACKS", default="")
# Fernet keys for secrets in rows: the first encrypts, the others only decrypt.
CREDENTIALS_KEYS = [
    key.strip()
    for key in env.secret(
        "CREDENTIALS_KEY",
        default="ZGV2ZWxvcG1lbnQgb25seTogbm8gc2VjcmV0cyBoZXI=" if DEBUG else "",
    ).split(",")
    if key.strip()
]
ALLOWED_HOSTS = env.items(
    "ALLOWED_HOSTS", default="127.0.0.1,localhost,[::1]" if DEBUG else None
)
REDIS_URL = env.secret(
    "REDIS_URL", default="redis://127.0.0.1:6379/0" if DEBUG else None
)

# Loopback, link-local and metadata networks that hosts may be in all the same
HOST_NETWORKS_ALLOWED = env.items("HOST_NETWORKS_ALLOWED", default="")

# Notices: the address of the panel in links, the mail server of people, networks as above

PANEL_URL = env.text("PANEL_URL", default="")
NOTICE_MAIL_URL = env.secret("NOTICE_MAIL_URL", default="")
NOTICE_NETWORKS_ALLOWED = env.items("NOTICE_NETWORKS_ALLOWED", default="")

# Where charts lead on to; off while empty

GRAFANA_LINK = env.link_template(
    "GRAFANA_LINK", frozenset({"deployment", "cluster", "from", "to"})
)

# Applications, middleware, templates

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "django_htmx",
    "template_partials.apps.SimpleAppConfig",
    "deployments.apps.DeploymentsConfig",
]
MIDDLEWARE = [
    "panel.middleware.RequestIdMiddleware",
    "panel.middleware.AuditOriginMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "panel.middleware.SecurityHeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "panel.middleware.HtmxLoginMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "panel.sessions.SessionSeenMiddleware",
    "panel.tokens.TokenMiddleware",
    "panel.middleware.PersonMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "panel.middleware.SeenPasswordMiddleware",
    "panel.middleware.SecondFactorMiddleware",
    "panel.middleware.PermissionMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
_LOADERS = [
    "django.template.loaders.filesystem.Loader",
    "django.template.loaders.app_directories.Loader",
]
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "builtins": [
                "template_partials.templatetags.partials",
                "deployments.templatetags.fixed",
                "deployments.templatetags.texts",
            ],
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "panel.context.panel",
            ],
            "loaders": [
                (
                    "template_partials.loader.Loader",
                    [("django.template.loaders.cached.Loader", _LOADERS)],
                )
            ],
        },
    }
]
ROOT_URLCONF = "panel.urls"
WSGI_APPLICATION = "panel.wsgi.application"

# Database and cache

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
DATABASE_URL = env.secret(
    "DATABASE_URL",
    default=f"sqlite:///{BASE_DIR / 'var' / 'development.sqlite3'}" if DEBUG else None,
)
DATABASE_PREPARES = env.boolean("DATABASE_PREPARES", default=True)
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        **dj_database_url.parse(
            DATABASE_URL,
            conn_max_age=env.integer("DATABASE_CONNECTION_SECONDS", default=60),
            conn_health_checks=True,
        ),
        "ATOMIC_REQUESTS": False,
    }
}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
    # A file, since an in-memory database cannot show what two connections do.
    DATABASES["default"]["TEST"] = {"NAME": f"{DATABASES['default']['NAME']}.test"}
elif DATABASE_PREPARES:
    # Each kept statement is planned once for a connection, and none is compiled: that takes longer.
    _options = DATABASES["default"].setdefault("OPTIONS", {})
    _given = [_options["options"]] if "options" in _options else []
    _once = "-c plan_cache_mode=force_generic_plan -c jit=off"
    _options |= {"prepare_threshold": 0, "options": " ".join([*_given, _once])}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "panel_cache",
    }
}

# How long acceptance history is kept, in days (0 is for ever), and when silence is worth a word

SAMPLES_KEPT_DAYS = env.integer("SAMPLES_KEPT_DAYS", default=14)
MINUTES_KEPT_DAYS = env.integer("MINUTES_KEPT_DAYS", default=30)
HOURS_KEPT_DAYS = env.integer("HOURS_KEPT_DAYS", default=400)
DAYS_KEPT_DAYS = env.integer("DAYS_KEPT_DAYS", default=0)
STALE_AFTER_SECONDS = env.integer("STALE_AFTER_SECONDS", default=180, minimum=60)

# How long the preflight of a plan stands, in minutes; a release repeats what is older

PREFLIGHT_LASTS_MINUTES = env.integer("PREFLIGHT_LASTS_MINUTES", default=30)

# Work on releases, in seconds: a lost worker's is taken over after a lease and a sweep

COMMAND_LEASE_SECONDS = env.integer("COMMAND_LEASE_SECONDS", default=30, minimum=3)
COMMAND_HEARTBEAT_SECONDS = env.integer(
    "COMMAND_HEARTBEAT_SECONDS", default=10, minimum=1
)
COMMAND_SWEEP_SECONDS = env.integer("COMMAND_SWEEP_SECONDS", default=5, minimum=1)
if COMMAND_HEARTBEAT_SECONDS * 2 > COMMAND_LEASE_SECONDS:
    raise ImproperlyConfigured(
        "COMMAND_HEARTBEAT_SECONDS must be at most half of COMMAND_LEASE_SECONDS, or one late "
        "heartbeat loses the lease."
    )

# People

AUTH_USER_MODEL = "deployments.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"
    },
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "panel.accounts.ClosedAccountAdapter"
ACCOUNT_FORMS = {
    "login": "panel.account_forms.LogInForm",
    "change_password": "panel.account_forms.PasswordForm",
    "reauthenticate": "panel.account_forms.ConfirmForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
ACCOUNT_REAUTHENTICATION_TIMEOUT = 300
ACCOUNT_SESSION_REMEMBER = False
ALLAUTH_TRUSTED_PROXY_COUNT = env.integer("TRUSTED_PROXY_COUNT", default=0)
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Draftboard"
SECOND_FACTOR_FOR_ALL = env.boolean("SECOND_FACTOR_FOR_ALL", default=False)

# Single sign-on, where the environment names a provider

OIDC_ISSUER = env.text("OIDC_ISSUER", default="")
OIDC_NAME = env.text("OIDC_NAME", default="Single sign-on")
OIDC_GROUPS_CLAIM = env.text("OIDC_GROUPS_CLAIM", default="groups")
OIDC_GROUP_ROLES = env.group_roles("OIDC_GROUP_ROLES")
SOCIALACCOUNT_ADAPTER = "panel.single_sign_on.SingleSignOnAdapter"
# Or whoever finds a session open connects an account of their own and comes back with it.
SOCIALACCOUNT_REAUTHENTICATION_REQUIRED = True
# A form that leads to another origin would need a hole in the policy of every page.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_PROVIDERS = env.oidc_provider(
    OIDC_ISSUER,
    OIDC_NAME,
    env.text("OIDC_CLIENT_ID", default=""),
    env.secret("OIDC_CLIENT_SECRET", default=""),
)

# Languages and time

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = "panel.formats"
TIME_ZONE = env.text("TIME_ZONE", default="UTC")
USE_TZ = True
USE_I18N = True

# Static files

STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "panel.static_files.StaticFiles"},
}

# Cookies, transport, requests

_HOST_PREFIX = "__Host-" if SERVED_OVER_HTTPS else "draftboard-"
SESSION_COOKIE_NAME = f"{_HOST_PREFIX}session"
CSRF_COOKIE_NAME = f"{_HOST_PREFIX}csrf"
LANGUAGE_COOKIE_NAME = f"{_HOST_PREFIX}language"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = SERVED_OVER_HTTPS
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = LANGUAGE_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 60 * 60 * 12
LANGUAGE_COOKIE_AGE = 60 * 60 * 24 * 365
SECURE_SSL_REDIRECT = SERVED_OVER_HTTPS
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 if SERVED_OVER_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SERVED_OVER_HTTPS
SECURE_PROXY_SSL_HEADER = (
    ("HTTP_X_FORWARDED_PROTO", "https") if ALLAUTH_TRUSTED_PROXY_COUNT else None
)
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 500

# Background work: Redis carries messages only, the database is the truth

CELERY_BROKER_URL = env.broker_address(REDIS_URL)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_SOFT_TIME_LIMIT = 100
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 300,
    "socket_timeout": 10,
    "socket_connect_timeout": 5,
    "retry_on_timeout": True,
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Claims with leases and fences already make a second delivery harmless.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_CREATE_MISSING_QUEUES = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"

LOGGING = logging_settings(readable=DEBUG or LAB_MODE)
