"""What noise looks like whose neighbours correlate with phi, phi^2, phi^3 ...: sums over it, and fits to it."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rlclinic.model.series import FloatArray
from rlclinic.signals._course import line

PHIS: FloatArray = np.concatenate(
    (np.linspace(0.0, 0.8, 9), [0.85, 0.88, 0.9, 0.92, 0.94, 0.955, 0.965, 0.975, 0.98, 0.985])
)
"""Correlations of neighbours that are weighed against each other."""
PRIOR: FloatArray = np.gradient(PHIS)
"""Weight of each of them before the data: all phi are equally likely."""
SHORT = 128
"""Points up to which a plain sum over lags is faster than a Fourier transform."""


def quadratic(contrast: FloatArray, used: NDArray[np.bool_]) -> FloatArray:
    """Variance of the weighted sum of unit noise, for those of `PHIS` that are used."""
    n = int(contrast.size)
    if n <= SHORT:
        lags = np.correlate(contrast, contrast, mode="full")[n - 1 :]
    else:
        length = 1 << (2 * n - 1).bit_length()
        spectrum = np.fft.rfft(contrast, length)
        lags = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, length)[:n]
    lags[1:] *= 2.0
    result: FloatArray = _powers(n)[used] @ lags
    return result


@lru_cache(maxsize=128)
def _powers(n: int) -> FloatArray:
    powers: FloatArray = PHIS[:, None] ** np.arange(n)
    return powers


@lru_cache(maxsize=256)
def expectations(n: int, pieces: int) -> tuple[FloatArray, FloatArray]:
    """For unit noise of each phi: expected sum of squared residuals, and the neighbour correlation seen in them."""
    basis = line(n, pieces)
    blurred = _blurred(basis)
    inner = np.einsum("tm,ptk->pmk", basis, blurred)
    kept = n - np.trace(inner, axis1=1, axis2=2)
    lagged = (n - 1) * PHIS - np.einsum("tm,ptm->p", basis[:-1], blurred[:, 1:])
    lagged -= np.einsum("tm,ptm->p", basis[1:], blurred[:, :-1])
    lagged += np.einsum("tm,pmk,tk->p", basis[:-1], inner, basis[1:], optimize=True)
    return kept, lagged / kept


def _blurred(basis: FloatArray) -> FloatArray:
    """The columns of a basis times the covariance of unit noise of each phi."""
    n = basis.shape[0]
    length = 1 << (2 * n - 1).bit_length()
    covariance = np.zeros((PHIS.size, length))
    covariance[:, :n] = _powers(n)
    covariance[:, length - n + 1 :] = _powers(n)[:, :0:-1]
    spectra = np.fft.rfft(covariance, axis=1).real[:, :, None] * np.fft.rfft(basis, length, axis=0)[None]
    blurred: FloatArray = np.fft.irfft(spectra, length, axis=1)[:, :n]
    return blurred
