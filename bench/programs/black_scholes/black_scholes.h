#ifndef BLACK_SCHOLES_H
#define BLACK_SCHOLES_H

// The prices of n European call and put options by Black and Scholes' formula, for one riskless rate and one
// volatility. The normal distribution is Abramowitz and Stegun's polynomial 26.2.17 (exact to 7.5e-8).
void black_scholes(int n, float rate, float volatility, const float *spot, const float *strike, const float *years,
                   float *call, float *put);

#endif
