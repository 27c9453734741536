" Rewrites a C or C++ buffer with ompsplit before it is written, and on :OmpSplit. For Vim 8.1 and Neovim.
"
" The buffer is never replaced by what a program prints. The changes come as a diff, and all of it must fit the buffer before
" any of it is applied: whatever goes wrong with the program, nothing is lost. Only the lines that differ are touched,
" in one step of undo, so that the cursor, marks and folds stay where they are.
"
"   let g:ompsplit_command = 'ompsplit --device h200'    " the program with flags of your own, 'ompsplit' by default
"   let b:ompsplit_on_save = 0                           " (or g:) leaves it to :OmpSplit

if exists('g:loaded_ompsplit') || !exists('*deletebufline')
  finish
endif
let g:loaded_ompsplit = 1
let s:compatible = &cpoptions
set cpoptions&vim

augroup ompsplit
  autocmd!
  autocmd BufWritePre *.c,*.cc,*.cpp,*.cxx,*.h,*.hh,*.hpp,*.hxx call s:on_save()
augroup END
command! -bar OmpSplit call s:rewrite()

function! s:on_save() abort
  if get(b:, 'ompsplit_on_save', get(g:, 'ompsplit_on_save', 1)) && &modifiable && empty(&buftype)
    call s:rewrite()
  endif
endfunction

function! s:rewrite() abort
  let [l:diff, l:error] = s:ask()
  if empty(l:error)
    let [l:changes, l:error] = s:read(l:diff)
  endif
  if !empty(l:error)
    echohl WarningMsg
    echomsg 'ompsplit: the buffer stays as it is: ' . l:error
    echohl None
    return
  endif
  let l:view = winsaveview()
  call s:apply(l:changes)
  " The cursor went along with its line, and the window follows.
  let l:moved = line('.') - l:view.lnum
  let l:view.lnum += l:moved
  let l:view.topline = max([1, l:view.topline + l:moved])
  call winrestview(l:view)
endfunction

" The lines of a diff of the buffer, and what went wrong.
function! s:ask() abort
  let l:name = expand('%:p')
  if empty(l:name)
    let l:name = &filetype ==# 'cpp' ? 'buffer.cpp' : 'buffer.c'
  endif
  let l:messages = tempname()
  let l:command = get(g:, 'ompsplit_command', 'ompsplit') . ' --diff --quiet --color never --stdin-filename '
  " Every shell has its own way to part standard error from standard output.
  let l:saved = [&shell, &shellcmdflag, &shellredir, &shellquote, &shellxquote]
  try
    if has('unix')
      let [&shell, &shellcmdflag, &shellredir, &shellquote, &shellxquote] = ['/bin/sh', '-c', '>%s 2>&1', '', '']
    endif
    let l:command .= shellescape(l:name) . ' - 2>' . shellescape(l:messages)
    " The empty item ends the last line.
    let l:diff = systemlist(l:command, getline(1, '$') + [''])
    let l:status = v:shell_error
  finally
    let [&shell, &shellcmdflag, &shellredir, &shellquote, &shellxquote] = l:saved
    let l:said = filereadable(l:messages) ? readfile(l:messages) : []
    call delete(l:messages)
  endtry
  " 0 and 1 are a diff without and with changes.
  if l:status == 0 || l:status == 1
    return [l:diff, '']
  endif
  return [[], get(l:said, 0, 'it ended with status ' . l:status)]
endfunction

" The changes in a diff, each [first line, old lines, new lines], and what does not fit the buffer.
function! s:read(diff) abort
  let l:changes = []
  let l:at = 0
  while l:at < len(a:diff)
    let l:head = matchlist(a:diff[l:at], '^@@ -\(\d\+\)\(,\(\d\+\)\)\? +\(\d\+\)\(,\(\d\+\)\)\? @@')
    let l:at += 1
    if empty(l:head)
      continue
    endif
    let l:before = empty(l:head[2]) ? 1 : str2nr(l:head[3])
    let l:after = empty(l:head[5]) ? 1 : str2nr(l:head[6])
    " A hunk without old lines names the line before it.
    let l:line = str2nr(l:head[1]) + (l:before == 0)
    let l:change = [l:line, [], []]
    while l:before > 0 || l:after > 0
      let l:mark = get(a:diff, l:at, '')[0:0]
      let l:text = get(a:diff, l:at, '')[1:]
      let l:at += 1
      let l:is_old = l:mark ==# ' ' || l:mark ==# '-'
      let l:is_new = l:mark ==# ' ' || l:mark ==# '+'
      let l:fits = !l:is_old || (l:line <= line('$') && l:text ==# getline(l:line))
      if !l:fits || (!l:is_old && !l:is_new) || l:before < l:is_old || l:after < l:is_new
        return [[], 'its answer is no diff of this text']
      endif
      let l:before -= l:is_old
      let l:after -= l:is_new
      let l:line += l:is_old
      if !l:is_old
        call add(l:change[2], l:text)
      elseif !l:is_new && empty(l:change[2])
        call add(l:change[1], l:text)
      else
        call add(l:changes, l:change)
        let l:change = l:is_new ? [l:line, [], []] : [l:line - 1, [l:text], []]
      endif
    endwhile
    call add(l:changes, l:change)
  endwhile
  return [l:changes, '']
endfunction

" Applies changes from the last to the first, so that the numbers of lines before them hold.
function! s:apply(changes) abort
  for [l:line, l:old, l:new] in reverse(a:changes)
    let l:same = min([len(l:old), len(l:new)])
    if len(l:old) > l:same
      call deletebufline('%', l:line + l:same, l:line + len(l:old) - 1)
    elseif len(l:new) > l:same
      call append(l:line + l:same - 1, l:new[l:same :])
    endif
    if l:same > 0
      call setline(l:line, l:new[: l:same - 1])
    endif
  endfor
endfunction

let &cpoptions = s:compatible
unlet s:compatible
