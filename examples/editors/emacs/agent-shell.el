;;; agent-shell.el --- sessiond in agent-shell -*- lexical-binding: t; -*-

;;; Commentary:

;; `M-x sessiond' opens a shell that talks to `sessiond acp'.

;;; Code:

(require 'acp)
(require 'agent-shell)

(defun sessiond-agent-config ()
  "How agent-shell starts sessiond and what it calls it."
  (agent-shell-make-agent-config
   :identifier 'sessiond
   :mode-line-name "sessiond"
   :buffer-name "sessiond"
   :shell-prompt "sessiond> "
   :shell-prompt-regexp "sessiond> "
   :client-maker (lambda (buffer)
                   (acp-make-client :command "sessiond"
                                    :command-params '("acp")
                                    :context-buffer buffer))))

(defun sessiond ()
  "Start a sessiond shell."
  (interactive)
  (agent-shell-start :config (sessiond-agent-config)))

;;; agent-shell.el ends here
