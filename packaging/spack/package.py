# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack.package import *


class Ompsplit(CargoPackage):
    """Rewrites OpenMP offload pragmas in C and C++ so that every kernel uses the whole GPU,
    and says why where it does not."""

    # OWNER stands for whoever publishes the repository;
    # `spack develop -p CHECKOUT ompsplit@main` builds a checkout.
    homepage = "https://github.com/OWNER/ompsplit"
    git = "https://github.com/OWNER/ompsplit.git"

    license("MIT OR Apache-2.0", checked_by="ompsplit")

    version("main", branch="main")

    depends_on("c", type="build")
    depends_on("rust@1.90:", type="build")
    # For --verify and --facts clang.
    depends_on("llvm@19:+clang", type="run", when="+verify")

    variant("verify", default=False, description="Also install the clang that --verify asks")

    @run_after("install")
    def documentation(self):
        program = Executable(join_path(self.prefix.bin, "ompsplit"))
        mkdirp(self.prefix.share.man.man1)
        with open(join_path(self.prefix.share.man.man1, "ompsplit.1"), "w") as page:
            program("generate", "man", output=page)
