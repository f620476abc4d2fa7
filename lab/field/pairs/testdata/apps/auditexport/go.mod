module auditexport

go 1.26
