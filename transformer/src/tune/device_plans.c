// A part of the device's clock: which kernels are launched in which grids, and what came of it. The file that OMPSPLIT_REPLAY names tells the
// lines of kernels whose grids are to be tried, and these grids; the file of the times gets the milliseconds of each.

enum { MOST_PLANS = 1024, MOST_GRIDS = 64 };

// Grids that are tried for the kernels of one line.
static struct plan {
    long line;
    char prefix[80];
    unsigned grids[MOST_GRIDS][2]; // threads, and the most teams
    int count;
    long launches;
    double seconds; // spent on it
    int replayed;
    const char *refusal;
} plans[MOST_PLANS];
static int plan_count = -1;
static double budget = 5; // seconds for one kernel

static struct sample {
    int plan, grid;
    long launch;
    double milliseconds;
} *samples;
static size_t sample_count, sample_room;

static void read_plans(void)
{
    if (plan_count >= 0)
        return;
    plan_count = 0;
    const char *path = getenv("OMPSPLIT_REPLAY");
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file)
        return;
    char line[256];
    while (fgets(line, sizeof line, file)) {
        struct plan next = {0};
        unsigned threads, teams;
        double seconds;
        if (sscanf(line, "budget %lf", &seconds) == 1) {
            budget = seconds;
        } else if (sscanf(line, "kernel %ld %79s", &next.line, next.prefix) == 2) {
            if (plan_count < MOST_PLANS)
                plans[plan_count++] = next;
        } else if (sscanf(line, "grid %u %u", &threads, &teams) == 2 && plan_count) {
            struct plan *last = &plans[plan_count - 1];
            if (last->count < MOST_GRIDS) {
                last->grids[last->count][0] = threads;
                last->grids[last->count++][1] = teams;
            }
        }
    }
    fclose(file);
}

// The line that ends a kernel's name: `.._l12`, or `.._l12_1` for the second one of a line.
static long line_of(const char *name)
{
    const char *last = strrchr(name, '_');
    if (last && last[1] != 'l')
        while (last > name && *--last != '_')
            ;
    return last && last[0] == '_' && last[1] == 'l' ? atol(last + 2) : -1;
}

static int is_of(const char *name, const char *prefix) { return !strncmp(name, prefix, strlen(prefix)); }

// The length of what tells the file in a kernel's name: `__omp_offloading_fd00_1a2b_`.
static size_t file_part(const char *name)
{
    const char *start = "__omp_offloading_", *end = is_of(name, start) ? strchr(name + strlen(start), '_') : NULL;
    end = end ? strchr(end + 1, '_') : NULL;
    return end ? (size_t)(end - name) + 1 : 0;
}

// Are all kernels of one file, which is not known by that name? Then their lines tell them apart.
static int is_only_file(const char *prefix)
{
    const char *first = NULL;
    for (int i = 0; i < kernel_count; i++) {
        const char *name = kernels[i].name;
        size_t length = name ? file_part(name) : 0;
        if (!length)
            continue;
        if (is_of(name, prefix) || (first && strncmp(first, name, length)))
            return 0;
        first = name;
    }
    return 1;
}

static struct plan *plan_of(const char *name)
{
    read_plans();
    for (int i = 0; i < plan_count; i++)
        if (line_of(name) == plans[i].line && (is_of(name, plans[i].prefix) || is_only_file(plans[i].prefix)))
            return &plans[i];
    return NULL;
}

static void keep_sample(struct plan *plan, int grid, double milliseconds)
{
    if (sample_count == sample_room) {
        size_t room = sample_room ? 2 * sample_room : 256;
        void *more = realloc(samples, room * sizeof *samples);
        if (!more)
            return;
        samples = more;
        sample_room = room;
    }
    samples[sample_count++] = (struct sample){(int)(plan - plans), grid, plan->launches, milliseconds};
}

static void write_replays(FILE *file)
{
    for (size_t i = 0; i < sample_count; i++) {
        const struct plan *plan = &plans[samples[i].plan];
        const unsigned *grid = plan->grids[samples[i].grid];
        fprintf(file, "replay %ld %ld %u %u %.6f\n", plan->line, samples[i].launch, grid[0], grid[1],
                samples[i].milliseconds);
    }
    for (int i = 0; i < plan_count; i++)
        if (plans[i].launches && !plans[i].replayed)
            fprintf(file, "refused %ld %s\n", plans[i].line,
                    plans[i].refusal ? plans[i].refusal : "no launch of it could be replayed");
}
