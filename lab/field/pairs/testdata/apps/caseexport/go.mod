module caseexport

go 1.26
