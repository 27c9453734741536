// Three kernels in one data environment, as a programmer writes them (Chikin, Gobran and Amaral 2018, Figure 6): the second changes an
// array that the first and the last do not use. The tool rewrites this file.
void block(long n, double *c, long m, float *a, long steps, float factor)
{
#pragma omp target data map(tofrom: a[0:m]) map(tofrom: c[0:n])
    {
#pragma omp target teams distribute parallel for map(tofrom: a[0:m])
        for (long i = 0; i < m; i++) {
            float x = a[i];
            for (long k = 0; k < steps; k++)
                x = x * factor + 1;
            a[i] = x;
        }
#pragma omp target teams distribute parallel for map(tofrom: c[0:n])
        for (long i = 0; i < n; i++)
            c[i] = c[i] * 2 + 1;
#pragma omp target teams distribute parallel for map(tofrom: a[0:m])
        for (long i = 0; i < m; i++) {
            float x = a[i];
            for (long k = 0; k < steps; k++)
                x = x * factor + 2;
            a[i] = x;
        }
    }
}
