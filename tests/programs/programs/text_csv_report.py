import csv, io
from operator import itemgetter
from itertools import groupby

RAW = """date,region,product,units,price
2024-01-03,north,widget,10,2.50
2024-01-04,south,widget,3,2.50
2024-01-04,north,"gadget, large",1,19.99
2024-02-10,south,gizmo,7,4.00
2024-02-11,north,widget,-2,2.50
2024-02-11,east,"say ""hi"" card",12,0.75
bad row
2024-03-01,south,gizmo,x,4.00
"""

rows, errors = [], []
reader = csv.DictReader(io.StringIO(RAW))
for row in reader:
    try:
        row["units"] = int(row["units"])
        row["price"] = float(row["price"])
        row["total"] = row["units"] * row["price"]
    except (TypeError, ValueError) as e:
        errors.append((reader.line_num, type(e).__name__, row["date"]))
    else:
        rows.append(row)

print("fields:", reader.fieldnames)
print("errors:", errors)
rows.sort(key=itemgetter("region", "date"))
grand = 0
for region, group in groupby(rows, key=itemgetter("region")):
    print(region.upper())
    subtotal = 0
    for r in group:
        print("  {date} {product:<16.16} {units:>4} x {price:6.2f} = {total:8.2f}".format(**r))
        subtotal += r["total"]
    print(f"  {'subtotal':>38} {subtotal:8.2f}")
    grand += subtotal
print(f"GRAND TOTAL {grand:,.2f}")

out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["product", "total"], extrasaction="ignore", lineterminator="\n")
writer.writeheader()
writer.writerows(sorted(rows, key=lambda r: r["total"], reverse=True))
print(out.getvalue())


class Semi(csv.excel):
    delimiter = ";"
    quoting = csv.QUOTE_NONNUMERIC


csv.register_dialect("semi", Semi)
buf = io.StringIO(newline="")
w = csv.writer(buf, dialect="semi")
w.writerow(["a;b", 1, 2.5, None])
w.writerow(['quo"te', -3, "", True])
print(repr(buf.getvalue()))
buf.seek(0)
print(list(csv.reader(["x|y|z", "1||3"], delimiter="|")))
print(csv.Sniffer().sniff("a\tb\tc\n1\t2\t3\n").delimiter == "\t", "semi" in csv.list_dialects())
