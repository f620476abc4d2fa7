module blackfridaydocs

go 1.26

require github.com/russross/blackfriday/v2 v2.1.0
