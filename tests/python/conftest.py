"""Fixtures that the tests share."""

import pathlib

import pytest


@pytest.fixture
def repository():
    return pathlib.Path(__file__).resolve().parents[2]
