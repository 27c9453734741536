/* A tool of OpenMP's tools interface that lets every deferred task begin late: what forgets to wait for one goes on without
   its results. */
#include <omp-tools.h>
#include <unistd.h>

static void created(ompt_data_t *encountering, const ompt_frame_t *frame, ompt_data_t *task, int flags, int dependences,
                    const void *place)
{
    task->value = 1;
}

static void scheduled(ompt_data_t *before, ompt_task_status_t status, ompt_data_t *task)
{
    if (task && task->value == 1) {
        task->value = 0;
        usleep(20000);
    }
}

static int begin(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_task_create, (ompt_callback_t)created);
    set(ompt_callback_task_schedule, (ompt_callback_t)scheduled);
    return 1;
}

static void end(ompt_data_t *data) {}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {begin, end, {0}};
    return &tool;
}
