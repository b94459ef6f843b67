"""Every integration test runs in float64, from the same random state, on as many threads as it is given."""

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def doubles():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(0)
    yield
    torch.set_default_dtype(before)
