def check(field, value):
    if not value:
        raise ValueError(f"{field} is empty")


def validate(form):
    errors = []
    for field, value in form.items():
        try:
            check(field, value)
        except ValueError as e:
            e.add_note(f"in a form of {len(form)} fields")
            errors.append(e)
    if errors:
        raise ExceptionGroup("the form is invalid", errors)


validate({"name": "x"})
print("first form ok")
validate({"name": "", "mail": "", "age": 3})
