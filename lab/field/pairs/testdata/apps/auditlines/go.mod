module auditlines

go 1.26
