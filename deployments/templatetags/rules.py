"""Links from a finding to what the reference says about its rule."""

from django import template

from deployments.selectors.rules import rule_address

register = template.Library()
register.filter("rule_address", rule_address)
