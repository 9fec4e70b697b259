"""The library's forms of accounts in the panel's words, without words inside the fields."""

from typing import TYPE_CHECKING

from allauth.account.forms import ChangePasswordForm, LoginForm, ReauthenticateForm
from django.forms import Form
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

__all__ = ["ConfirmForm", "LogInForm", "PasswordForm"]


def _labelled(form: Form, **labels: "StrOrPromise") -> None:
    """Give fields their labels; a placeholder would say the same again and vanish."""
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)
    for name, label in labels.items():
        form.fields[name].label = label


class LogInForm(LoginForm):  # type: ignore[misc]  # the library has no types
    """User name or address, and the password."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Say to password managers what the first field holds."""
        super().__init__(*args, **kwargs)
        _labelled(self, login=_("User name or email"))
        self.fields["login"].widget.attrs["autocomplete"] = "username"


class PasswordForm(ChangePasswordForm):  # type: ignore[misc]
    """The password now, and the new one twice."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Label the fields."""
        super().__init__(*args, **kwargs)
        _labelled(
            self,
            oldpassword=_("Password now"),
            password1=_("New password"),
            password2=_("New password, again"),
        )


class ConfirmForm(ReauthenticateForm):  # type: ignore[misc]
    """The password once more."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        """Label the field."""
        super().__init__(*args, **kwargs)
        _labelled(self, password=_("Password now"))
