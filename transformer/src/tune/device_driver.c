// A part of the device's clock: the functions of the driver by which a launch is made again.

static struct {
    int (*launch)(handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, void **);
    int (*context_of)(handle, handle *);
    int (*current)(handle *);
    int (*push)(handle);
    int (*pop)(handle *);
    int (*finish)(void);
    int (*wait)(handle);
    int (*allocate)(device_pointer *, size_t);
    int (*release)(device_pointer);
    int (*copy)(device_pointer, device_pointer, size_t, handle);
    int (*fetch)(void *, device_pointer, size_t);
    int (*global)(device_pointer *, size_t *, handle, const char *);
    int (*attribute)(int *, int, handle);
    int (*capturing)(handle, int *);
    int (*elapsed)(float *, handle, handle);
} api;

static int has_api(void)
{
    static const struct {
        void *at;
        const char *name;
    } all[] = {
        {&api.launch, "cuLaunchKernel"},          {&api.context_of, "cuStreamGetCtx"},
        {&api.current, "cuCtxGetCurrent"},        {&api.push, "cuCtxPushCurrent_v2"},
        {&api.pop, "cuCtxPopCurrent_v2"},         {&api.finish, "cuCtxSynchronize"},
        {&api.wait, "cuStreamSynchronize"},       {&api.allocate, "cuMemAlloc_v2"},
        {&api.release, "cuMemFree_v2"},           {&api.copy, "cuMemcpyDtoDAsync_v2"},
        {&api.fetch, "cuMemcpyDtoH_v2"},          {&api.global, "cuModuleGetGlobal_v2"},
        {&api.attribute, "cuFuncGetAttribute"},   {&api.capturing, "cuStreamIsCapturing"},
        {&api.elapsed, "cuEventElapsedTime"},
    };
    static int has = -1;
    if (has < 0) {
        has = 1;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            has &= (*(void **)all[i].at = driver(all[i].name)) != NULL;
    }
    return has;
}
