module surveyimport

go 1.26
