;; Emacs with eglot attaches to `saltus lsp`, sees a diagnostic, hovers, renames and writes:
;; emacs --batch -l emacs.el. SALTUS names the program, FOLDER a folder with M.mo.
(require 'eglot)
(require 'flymake)
(define-derived-mode modelica-mode prog-mode "Modelica" (setq-local comment-start "// "))
(add-to-list 'auto-mode-alist '("\\.mo\\'" . modelica-mode))
(add-to-list 'eglot-server-programs `(modelica-mode . (,(getenv "SALTUS") "lsp")))
(setq eglot-sync-connect 60 eglot-confirm-server-initiated-edits nil)
(setq make-backup-files nil)

(defun saltus-fail (text &rest values)
  (message "emacs: %s" (apply #'format text values))
  (kill-emacs 1))

(defun saltus-wait (what condition)
  (let ((end (time-add nil 60)))
    (while (not (funcall condition))
      (when (time-less-p end nil) (saltus-fail "no %s" what))
      (accept-process-output nil 0.05))))

(defun saltus-diagnostics ()
  (flymake-start)
  (accept-process-output nil 0.05)
  (mapcar #'flymake-diagnostic-text (flymake-diagnostics)))

(find-file (expand-file-name "M.mo" (getenv "FOLDER")))
(condition-case problem
    (progn
      (call-interactively #'eglot)
      (saltus-wait "attached client" #'eglot-current-server)
      (flymake-mode 1)
      (saltus-wait "diagnostic"
                   (lambda () (seq-some (lambda (text) (string-match-p "spede" text)) (saltus-diagnostics))))
      ;; The mistake is mended by typing, and the diagnostic goes.
      (goto-char (point-min))
      (search-forward "spede")
      (replace-match "speed")
      (run-hooks 'post-command-hook)
      (eglot--signal-textDocument/didChange)
      (saltus-wait "end of the diagnostic" (lambda () (null (saltus-diagnostics))))
      (goto-char (point-min))
      (search-forward "speed")
      (backward-char 2)
      (let* ((answer (jsonrpc-request (eglot-current-server) :textDocument/hover (eglot--TextDocumentPositionParams)))
             (said (format "%S" answer)))
        (unless (and (string-match-p "State\\." said) (string-match-p "rad/s" said))
          (saltus-fail "hover: %s" said)))
      (eglot-rename "velocity")
      (saltus-wait "renamed buffer"
                   (lambda () (and (string-match-p "der(velocity)" (buffer-string))
                                   (not (string-match-p "speed" (buffer-string))))))
      (save-buffer)
      (eglot-shutdown (eglot-current-server))
      (message "emacs: attached, diagnosed, hovered, renamed and written"))
  (error (saltus-fail "%S" problem)))
(kill-emacs 0)
