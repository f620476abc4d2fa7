module casefolders

go 1.26
