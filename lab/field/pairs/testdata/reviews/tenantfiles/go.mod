module tenantfiles

go 1.26
