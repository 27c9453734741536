#!/usr/bin/env bash
# usage: bench/toolkit.sh DIR
#
# Makes DIR a stand-in CUDA toolkit with which clang 19 builds programs that run on an NVIDIA GPU, without an
# installation of CUDA. `ptxas` and libdevice come from the Python package index. They are those of CUDA 12.9, because
# the cubins of CUDA 13 are refused by clang 19's runtime. No package holds a 12.x `nvlink`; but with -foffload-lto there
# is one device object, so `ptxas` also writes an executable cubin to the file that OMPSPLIT_CUBIN names, and `nvlink`
# hands that on. Builds at the same time need different files.
set -euo pipefail
readonly PACKAGE=nvidia-cuda-nvcc-cu12 VERSION=12.9.86

(($# == 1)) || { sed -n 2p "$0" >&2; exit 2; }
python3 -m pip --version >/dev/null || { echo "no pip: install python3-pip" >&2; exit 1; }
wheel=$(mktemp -d)
trap 'rm -rf "$wheel"' EXIT
python3 -m pip download --quiet --no-deps --dest "$wheel" "$PACKAGE==$VERSION"
python3 -m zipfile -e "$wheel"/*.whl "$wheel/unpacked"
unpacked=$wheel/unpacked/nvidia/cuda_nvcc

# Made beside and moved at the end, so that an interrupted run leaves no half toolkit behind.
made=$wheel/toolkit
mkdir -p "$made/bin" "$made/include" "$made/nvvm/libdevice"
install -m 755 "$unpacked/bin/ptxas" "$made/bin/ptxas.real"
install -m 644 "$unpacked/nvvm/libdevice/libdevice.10.bc" "$made/nvvm/libdevice/"

cat >"$made/bin/ptxas" <<'SH'
#!/usr/bin/env bash
# Once as asked, which may be for an object (-c), and once for an executable cubin.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
"$here/ptxas.real" "$@"
linked=()
while (($#)); do
  case $1 in
    -c) ;;
    -o | --output-file) shift ;;
    *) linked+=("$1") ;;
  esac
  shift
done
"$here/ptxas.real" "${linked[@]}" -o "${OMPSPLIT_CUBIN:?names the file for the executable cubin}"
SH
cat >"$made/bin/nvlink" <<'SH'
#!/usr/bin/env bash
set -euo pipefail
while (($#)); do
  if [[ $1 == -o ]]; then out=$2; shift; fi
  shift
done
cp "${OMPSPLIT_CUBIN:?names the file that ptxas wrote}" "$out"
SH
chmod 755 "$made/bin/ptxas" "$made/bin/nvlink"
mkdir -p "$(dirname "$1")"
rm -rf "$1"
mv "$made" "$1"
