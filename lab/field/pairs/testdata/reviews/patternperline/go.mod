module patternperline

go 1.26
