# SPDX-License-Identifier: Apache-2.0
"""The sparsity pattern of a tensor of PyTorch: where its values belong, and what is computed on it alone."""

from __future__ import annotations

import torch

from ._device_matrices import Parts, parts_of

_transposed_form = {"csr": "csc", "coo": "coo"}


class Pattern:
    """The index arrays of a square sparse tensor in CSR or COO. They are the tensor's own.

    Attributes
    ----------
    form : "csr" or "coo".
    rows : number of rows.
    nonzeros : number of stored values.
    device : of the index arrays, and of the values.
    """

    def __init__(self, A: torch.Tensor):
        if not isinstance(A, torch.Tensor) or A.layout is torch.strided:
            found = f"a dense tensor of the shape {tuple(A.shape)}" if isinstance(A, torch.Tensor) else repr(type(A))
            raise TypeError(f"A: expected a sparse tensor of PyTorch in CSR or COO, found {found}")
        parts = parts_of(A)
        assert parts is not None
        if parts.form not in _transposed_form:
            raise TypeError(f"A: expected a sparse tensor in CSR or COO, found {parts.form.upper()}; use "
                            "A.to_sparse_csr()")
        if parts.shape[0] != parts.shape[1]:
            raise ValueError(f"A: expected a square matrix, found the shape {parts.shape}")
        if parts.form == "coo" and not A.is_coalesced():
            raise ValueError("A: expected a coalesced tensor, found one whose entries may be repeated or in any order; "
                             "use A.coalesce()")
        self.form, self.rows, self.nonzeros = parts.form, parts.shape[0], parts.values.numel()
        self.device = parts.values.device
        self._first, self._second = parts.first, parts.second
        self._entries: tuple[torch.Tensor, torch.Tensor] | None = None
        self._partner: torch.Tensor | None = None
        self._checked = False

    def parts(self, values: torch.Tensor, transposed: bool) -> Parts:
        """The matrix with these values, or its transpose, from the same arrays: those of CSR are the transpose's in
        CSC."""
        form, first, second = self.form, self._first, self._second
        if transposed:
            form = _transposed_form[form]
            if form == "coo":
                first, second = second, first
        return Parts(form, (self.rows, self.rows), 1, first, second, values)

    def check_same(self, A: torch.Tensor) -> None:
        """Raise ValueError for a tensor whose values belong elsewhere."""
        other = Pattern(A)
        same = (other.form, other.rows, other.nonzeros) == (self.form, self.rows, self.nonzeros)
        for mine, others in ((self._first, other._first), (self._second, other._second)):
            same = same and (mine.data_ptr() == others.data_ptr() or torch.equal(mine, others))
        if not same:
            raise ValueError("A: expected the pattern and the layout that the Solver was made from, found another; "
                             "make a new Solver")

    @property
    def entries(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The row and the column of each value."""
        if self._entries is None:
            first, second = self._first, self._second
            if self.form != "coo":
                lines = torch.arange(self.rows, dtype=second.dtype, device=second.device)
                first = torch.repeat_interleave(lines, first.diff(), output_size=self.nonzeros)
            self._entries = first, second
        return self._entries

    def is_symmetric(self, values: torch.Tensor) -> bool:
        """Whether the matrix with these values is its own transpose, but for the rounding of a sum."""
        if not self._checked:
            self._partner, self._checked = self._find_partners(), True
        if self._partner is None:
            return False
        eps = torch.finfo(values.dtype).eps
        return torch.allclose(values, values.index_select(0, self._partner), rtol=4 * eps, atol=0.0)

    def _find_partners(self) -> torch.Tensor | None:
        """For each value the position of that in the transposed place; None if there is none for some."""
        rows, columns = (part.to(torch.int64) for part in self.entries)
        place, transposed = rows * self.rows + columns, columns * self.rows + rows
        by_place, by_transposed = torch.argsort(place), torch.argsort(transposed)
        if not torch.equal(place[by_place], transposed[by_transposed]):
            return None
        partner = torch.empty_like(by_place)
        partner[by_place] = by_transposed
        return partner

    def outer(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        """left_i right_j for each entry (i, j), summed over the columns of left and right if they have some."""
        rows, columns = self.entries
        if left.dim() == 1:
            return left.index_select(0, rows).mul_(right.index_select(0, columns))
        result = left.new_zeros(self.nonzeros)
        for one, other in zip(left.unbind(1), right.unbind(1)):  # one at a time, to spare the memory of all
            result.addcmul_(one.index_select(0, rows), other.index_select(0, columns))
        return result

    def product(self, values: torch.Tensor, x: torch.Tensor, transposed: bool) -> torch.Tensor:
        """The product of the matrix with these values, or of its transpose, with a vector or with columns."""
        rows, columns = self.entries
        if transposed:
            rows, columns = columns, rows
        weights = values if x.dim() == 1 else values.unsqueeze(1)
        return torch.zeros_like(x).index_add_(0, rows, x.index_select(0, columns).mul_(weights))
