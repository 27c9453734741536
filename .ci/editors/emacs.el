;;; Emacs without a screen: what editors/ompsplit.el does to a buffer, the server in eglot, and the recipes of docs/usage.md -*- lexical-binding: t; -*-

;; The environment names the root of the repository (ROOT), a text (TEXT), what ompsplit makes of it (EXPECTED), and where the sources of
;; apheleia and reformatter are (PLUGINS), which may be empty.

(require 'cl-lib)
(defvar root (getenv "ROOT"))
(defvar plugins (getenv "PLUGINS"))
(setq make-backup-files nil create-lockfiles nil)
(load (expand-file-name "editors/ompsplit.el" root) nil t)

(defun text-of (file)
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally file)
    (buffer-string)))
(defvar original (text-of (getenv "TEXT")))
(defvar expected (text-of (getenv "EXPECTED")))

(defun check (what is-right)
  (unless is-right
    (message "failed: %s" what)
    (kill-emacs 1)))

(defmacro with-file (name text &rest body)
  "Run BODY in the buffer of a new file called NAME that holds TEXT."
  (declare (indent 2))
  `(let* ((folder (make-temp-file "ompsplit" t))
          (file (expand-file-name ,name folder))
          (coding-system-for-write 'binary))
     (with-temp-file file (set-buffer-multibyte nil) (insert ,text))
     (let ((buffer (let ((coding-system-for-read nil)) (find-file-noselect file)))
           (coding-system-for-write nil))
       (with-current-buffer buffer ,@body)
       (with-current-buffer buffer (set-buffer-modified-p nil))
       (kill-buffer buffer)
       (delete-directory folder t))))

;; Point stays at its text, one undo takes all back, and line ends stay what they are.
(dolist (crlf '(nil t))
  (let ((before (if crlf (string-replace "\n" "\r\n" original) original))
        (after (if crlf (string-replace "\n" "\r\n" expected) expected)))
    (with-file "a b.c" before
      (buffer-enable-undo)
      (ompsplit-on-save-mode 1)
      (goto-char (point-max))
      (search-backward "}")
      (let ((behind (buffer-substring (point) (point-max))))
        (set-buffer-modified-p t)
        (undo-boundary)
        (save-buffer)
        (check "a save rewrites" (equal (text-of file) after))
        (check "point stays" (equal (buffer-substring (point) (point-max)) behind))
        (undo-boundary)
        (undo)
        (set-buffer-modified-p t)
        (ompsplit-on-save-mode -1)
        (save-buffer)
        (check "one undo takes everything back" (equal (text-of file) before))))))

;; Whatever goes wrong, the buffer stays and the save happens.
(dolist (program '("/nonexistent/ompsplit" "false" "true-without-answer"))
  (let ((ompsplit-command program))
    (when (equal program "true-without-answer")
      (setq ompsplit-command (expand-file-name "fails" (getenv "SCRATCH")))
      (with-temp-file ompsplit-command (insert "#!/bin/sh\necho lost\nkill -9 $$\n"))
      (set-file-modes ompsplit-command #o755))
    (with-file "a.c" original
      (ompsplit-on-save-mode 1)
      (set-buffer-modified-p t)
      (save-buffer)
      (check (format "%s costs nothing" program) (equal (text-of file) original)))))

;; The server, in Emacs' own client.
;; Debian keeps it and what it needs in folders of their own.
(let ((default-directory "/usr/share/emacs/site-lisp/elpa/"))
  (when (file-directory-p default-directory) (normal-top-level-add-subdirs-to-load-path)))
(require 'eglot)
(defun wait-for (what predicate)
  (let ((end (+ (float-time) 60)))
    (while (and (not (funcall predicate)) (< (float-time) end))
      (accept-process-output nil 0.05))
    (check what (funcall predicate))))
(with-file "a.c" original
  (c-mode)
  (setq-local eglot-sync-connect 30 eglot-autoshutdown t)
  (add-to-list 'eglot-server-programs '((c-mode c++-mode) . ("ompsplit" "server")))
  (apply #'eglot (eglot--guess-contact))
  (eglot--managed-mode 1)
  (eglot--signal-textDocument/didOpen)
  (wait-for "diagnostics come" (lambda () (or (flymake-start) (flymake-diagnostics))))
  (check "the diagnostic says what is done"
         (cl-some (lambda (said) (string-match-p "split into" (flymake-diagnostic-text said))) (flymake-diagnostics)))
  (eglot-format-buffer)
  (check "the server formats" (equal (encode-coding-string (buffer-string) 'utf-8) expected))
  (eglot-shutdown (eglot-current-server)))

(when (> (length plugins) 0)
  (dolist (name '("apheleia" "emacs-reformatter"))
    (add-to-list 'load-path (expand-file-name name plugins)))
  ;; As docs/usage.md says.
  (require 'apheleia)
  (push '(ompsplit . ("ompsplit" "-" "--quiet" "--stdin-filename" filepath)) apheleia-formatters)
  (with-file "a.c" original
    (c-mode)
    (let (done)
      (apheleia-format-buffer '(ompsplit) (lambda (&rest _) (setq done t)))
      (wait-for "apheleia answers" (lambda () done)))
    (check "apheleia formats" (equal (buffer-string) (decode-coding-string expected 'utf-8))))
  (require 'reformatter)
  (reformatter-define ompsplit-reformat
    :program "ompsplit" :args (list "-" "--quiet" "--stdin-filename" (or buffer-file-name "buffer.c")))
  (with-file "a.c" original
    (c-mode)
    (ompsplit-reformat-buffer)
    (check "reformatter formats" (equal (buffer-string) (decode-coding-string expected 'utf-8)))))
(message "emacs is content")
