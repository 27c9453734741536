// The same by hand, in the form of the paper's Figure 5: with IN the array is copied to the device by a deferred task, with OUT it comes
// back by one. The figure leaves out the wait at the end, without which the device's memory is given back under the copy.
void block(long n, double *c, long m, float *a, long steps, float factor)
{
#if defined(IN) && defined(OUT)
#pragma omp target data map(tofrom: a[0:m]) map(alloc: c[0:n])
#elif defined(IN)
#pragma omp target data map(tofrom: a[0:m]) map(from: c[0:n])
#else
#pragma omp target data map(tofrom: a[0:m]) map(to: c[0:n])
#endif
    {
#ifdef IN
#pragma omp target update to(c[0:n]) nowait depend(out: c[0])
#endif
#pragma omp target teams distribute parallel for map(tofrom: a[0:m])
        for (long i = 0; i < m; i++) {
            float x = a[i];
            for (long k = 0; k < steps; k++)
                x = x * factor + 1;
            a[i] = x;
        }
#ifdef IN
#pragma omp taskwait
#endif
#pragma omp target teams distribute parallel for map(tofrom: c[0:n])
        for (long i = 0; i < n; i++)
            c[i] = c[i] * 2 + 1;
#ifdef OUT
#pragma omp target update from(c[0:n]) nowait depend(out: c[0])
#endif
#pragma omp target teams distribute parallel for map(tofrom: a[0:m])
        for (long i = 0; i < m; i++) {
            float x = a[i];
            for (long k = 0; k < steps; k++)
                x = x * factor + 2;
            a[i] = x;
        }
#ifdef OUT
#pragma omp taskwait
#endif
    }
}
