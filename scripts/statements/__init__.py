# SPDX-License-Identifier: Apache-2.0
"""What check_statements.py is made of: systems, the interfaces that solve them, and a judge in exact arithmetic."""
