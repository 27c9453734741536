// The covariance matrix of a data set (Polybench's COVAR).
#include "covar.h"
#include "program.h"

static int points, features;
static float *data, *data_before, *mean, *covariance, *random_values, *actual_product_float;
static double *ones, *expected_mean, *expected_data, *x, *data_x, *expected_product, *actual_product;

static void allocate(const long *sizes)
{
    points = (int)sizes[0];
    features = (int)sizes[1];
    size_t elements = (size_t)points * features;
    data = new_floats(elements);
    data_before = new_floats(elements);
    mean = new_floats(features);
    covariance = new_floats((size_t)features * features);
    random_values = new_floats(features);
    actual_product_float = new_floats(features);
    ones = new_doubles(points);
    expected_mean = new_doubles(features);
    expected_data = new_doubles(elements);
    x = new_doubles(features);
    data_x = new_doubles(points);
    expected_product = new_doubles(features);
    actual_product = new_doubles(features);
}

static void prepare(void)
{
    size_t elements = (size_t)points * features;
    fill_floats(data_before, elements, 0.0f, 2.0f);
#pragma omp parallel for
    for (size_t i = 0; i < elements; i++)
        data[i] = data_before[i];
    poison_floats(mean, features);
    poison_floats(covariance, (size_t)features * features);
}

static void run(void) { covar(points, features, data, mean, covariance); }

// The covariance by Freivalds' method, from the centred data that the run has left behind.
static void check(void)
{
    for (int i = 0; i < points; i++)
        ones[i] = 1;
    host_multiply_transposed(data_before, ones, expected_mean, points, features);
    for (int j = 0; j < features; j++)
        expected_mean[j] /= points;
#pragma omp parallel for
    for (int i = 0; i < points; i++)
        for (int j = 0; j < features; j++)
            expected_data[i * features + j] = data_before[i * features + j] - expected_mean[j];
    check_floats("mean", mean, expected_mean, features, 1e-5);
    check_floats("centred data", data, expected_data, (size_t)points * features, 1e-5);

    fill_floats(random_values, features, -1.0f, 1.0f);
    for (int j = 0; j < features; j++)
        x[j] = random_values[j];
    host_multiply(data, x, data_x, points, features);
    host_multiply_transposed(data, data_x, expected_product, points, features);
    host_multiply(covariance, x, actual_product, features, features);
    for (int j = 0; j < features; j++) {
        expected_product[j] /= points - 1;
        actual_product_float[j] = (float)actual_product[j];
    }
    check_floats("covariance x", actual_product_float, expected_product, features, 1e-5);
}

static struct work work(void)
{
    double set = 4.0 * points * features, matrix = 4.0 * features * features;
    return (struct work){
        .bytes_in = set,
        .bytes_out = set + 4.0 * features + matrix,
        .device_bytes = 2 * set + 4.0 * features + matrix,
        .operations = 1.0 * features * (features + 1) * points + 2.0 * points * features,
    };
}

const struct program program = {"covar", "points features", allocate, prepare, run, check, work};
