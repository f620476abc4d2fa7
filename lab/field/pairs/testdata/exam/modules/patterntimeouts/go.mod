module patterntimeouts

go 1.26

require github.com/dlclark/regexp2 v1.7.0
