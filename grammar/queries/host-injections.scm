; For the queries of C and C++: the text of OpenMP pragmas is read by this grammar. The sentinel `omp` comes as the first word.

((preproc_call
  directive: (preproc_directive) @_directive
  argument: (preproc_arg) @injection.content)
 (#match? @_directive "^#[ \t]*pragma$")
 (#match? @injection.content "^[ \t]*ompx?([ \t\\\\]|$)")
 (#set! injection.language "openmp"))
