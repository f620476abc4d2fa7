module pongopages

go 1.26

require github.com/flosch/pongo2/v6 v6.0.0
