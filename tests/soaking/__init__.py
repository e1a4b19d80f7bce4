# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""The parts of tests/soak; README.md has the plan of them."""
