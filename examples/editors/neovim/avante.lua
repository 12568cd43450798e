-- avante.nvim: sessiond as the provider (`:AvanteAsk`).
require("avante").setup({
  provider = "sessiond",
  acp_providers = {
    ["sessiond"] = {
      command = "sessiond",
      args = { "acp" },
    },
  },
})
