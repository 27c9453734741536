;;; ompsplit.el --- Rewrite OpenMP offload pragmas with ompsplit -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "27.1"))
;; SPDX-License-Identifier: MIT OR Apache-2.0

;;; Commentary:

;; M-x ompsplit-buffer rewrites a C or C++ buffer; ompsplit-on-save-mode does so before each save:
;;
;;   (add-hook 'c-mode-hook #'ompsplit-on-save-mode)
;;   (add-hook 'c++-mode-hook #'ompsplit-on-save-mode)
;;
;; The text changes only if the program ran to its end and said that all is well.  Only what differs is replaced, so that point, marks
;; and folds stay, and one undo takes everything back.

;;; Code:

(defgroup ompsplit nil
  "Rewrite OpenMP offload pragmas."
  :group 'languages)

(defcustom ompsplit-command "ompsplit"
  "The program."
  :type 'string)

(defcustom ompsplit-arguments nil
  "Further flags, such as (\"--device\" \"h200\")."
  :type '(repeat string))

(defun ompsplit--name ()
  "The name that the text goes by."
  (or buffer-file-name (if (derived-mode-p 'c++-mode 'c++-ts-mode) "buffer.cpp" "buffer.c")))

;;;###autoload
(defun ompsplit-buffer ()
  "Rewrite the buffer, or say why it stays as it is."
  (interactive "*")
  (let ((name (ompsplit--name))
        (output (generate-new-buffer " *ompsplit*"))
        (messages (make-temp-file "ompsplit")))
    (unwind-protect
        (let ((status (condition-case problem
                          (save-restriction
                            (widen)
                            ;; Line ends go as the file has them.
                            (let ((coding-system-for-write (or buffer-file-coding-system 'utf-8))
                                  (coding-system-for-read (or buffer-file-coding-system 'utf-8)))
                              (apply #'call-process-region nil nil ompsplit-command nil (list output messages) nil
                                     (append (list "-" "--quiet" "--color" "never" "--stdin-filename" name)
                                             ompsplit-arguments))))
                        (file-error (error-message-string problem)))))
          (if (eql status 0)
              (save-restriction
                (widen)
                (replace-buffer-contents output))
            (message "ompsplit: the buffer stays as it is: %s"
                     (if (stringp status) status
                       (with-temp-buffer
                         (insert-file-contents messages)
                         (if (= (point-min) (point-max)) (format "it ended with status %s" status)
                           (buffer-substring (point-min) (line-end-position))))))))
      (kill-buffer output)
      (delete-file messages))))

;;;###autoload
(define-minor-mode ompsplit-on-save-mode
  "Rewrite the buffer before it is saved."
  :lighter " ompsplit"
  (if ompsplit-on-save-mode
      (add-hook 'before-save-hook #'ompsplit-buffer nil t)
    (remove-hook 'before-save-hook #'ompsplit-buffer t)))

(provide 'ompsplit)
;;; ompsplit.el ends here
