module levenshteinrows

go 1.26

require github.com/agnivade/levenshtein v1.0.1
