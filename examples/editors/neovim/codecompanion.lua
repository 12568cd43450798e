-- codecompanion.nvim: sessiond as the agent of the chat buffer (`:CodeCompanionChat`).
-- The adapter of goose is a plain ACP adapter; only its name and command are replaced.
require("codecompanion").setup({
  adapters = {
    acp = {
      sessiond = function()
        return require("codecompanion.adapters").extend("goose", {
          name = "sessiond",
          formatted_name = "sessiond",
          commands = {
            default = { "sessiond", "acp" },
          },
        })
      end,
    },
  },
  interactions = {
    chat = { adapter = "sessiond" },
  },
})
