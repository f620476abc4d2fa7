module parsestacks

go 1.26
