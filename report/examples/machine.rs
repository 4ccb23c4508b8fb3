//! The page of a modelled machine on standard output, to look at without one that is affected:
//! `cargo run --release -p report --example machine -- cascade-lake`.

use cpu_model::{CpuTable, TurboMode};
use report::machine_page;
use silicon::{Modelled, Noise, characterize};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "cascade-lake".to_owned());
    let model = CpuTable::by_name(&name)?.model(TurboMode::On)?;
    let mut machine = Modelled::new(model, Noise::SHARED, 1);
    print!("{}", machine_page(&characterize(&mut machine, 10.0, 1, &mut |_| {})));
    Ok(())
}
