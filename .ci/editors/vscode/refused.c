void f(double *a)
{
#pragma omp target map(tofrom: a[0:1000])
    {
#pragma omp parallel for
        for (int i = 0; i < 1000; i++) {
#pragma omp critical
            a[i] += 1;
        }
    }
}
