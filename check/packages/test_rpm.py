# SPDX-License-Identifier: GPL-2.0
"""What only the packages of Fedora have."""
import pytest
from packages import Rpm, do

pytestmark = pytest.mark.rpm


@pytest.mark.parametrize("tag", ["POSTTRANS", "PREUN", "POSTUN"])
def test_the_scripts_are_complete(build, tag):
    """What rpm did not know as a macro would have stayed as it is."""
    script = do("rpm", "-qp", "--qf", f"%{{{tag}}}\n", build(Rpm)["twheel-dkms"]).out
    assert "twheel" in script
    assert "%" not in script
    do("sh", "-n", stdin=script)


def test_rpmlint_has_nothing_against_the_packages(build):
    """But what its configuration says."""
    do("rpmlint", "--strict", "--config", "contrib/rpm/rpmlint.toml", *build(Rpm).values())
